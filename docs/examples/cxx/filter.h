// The sum over the last N values. Both instances have the same names but for the template's arguments.
#ifndef CXX_FILTER_H
#define CXX_FILTER_H

template <typename T, int N>
class Filter {
public:
    Filter() : at(0), sum(0)
    {
        for (int i = 0; i < N; i++)
            window[i] = 0;
    }

    T run(T x)
    {
        sum = sum - window[at] + x;
        window[at] = x;
        at = next(at);
        return sum;
    }

private:
    static int next(int i)
    {
        return i + 1 == N ? 0 : i + 1;
    }

    T window[N];
    int at;
    T sum;
};

#endif
