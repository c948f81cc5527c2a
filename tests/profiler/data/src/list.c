/* Source of the fixtures: a static function that has a namesake in tree.c, one that is inlined, and
 * data. */
struct node {
    struct node *next;
    int value;
};
struct node pool[4];

static inline __attribute__((always_inline)) int twice(int x) { return x + x; }

static int walk(struct node *n)
{
    int sum = 0;
    while (n) {
        sum += twice(n->value);
        n = n->next;
    }
    return sum;
}

int list_sum(void) { return walk(pool); }
