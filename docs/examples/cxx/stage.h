// What a value goes through, one step after the other. Functions behind a table: nobody names them in a call.
#ifndef CXX_STAGE_H
#define CXX_STAGE_H

class Stage {
public:
    Stage() : next(0) {}
    virtual int step(int x) = 0;
    Stage *next;
};

class Gain : public Stage {
public:
    explicit Gain(int shift) : shift(shift) {}
    int step(int x) override;

private:
    int shift;
};

class Offset : public Stage {
public:
    explicit Offset(int by) : by(by) {}
    int step(int x) override;

private:
    int by;
};

// A stage of stages.
class Pair : public Stage {
public:
    Pair(Stage *first, Stage *second) : first(first), second(second) {}
    int step(int x) override;

private:
    Stage *first, *second;
};

namespace left {
int sample(int i);
}
namespace right {
float sample(int i);
}

#endif
