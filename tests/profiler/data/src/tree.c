int list_sum(void);
void plain(void);

static int walk(int depth) { return depth ? walk(depth - 1) + 1 : 0; }

int tree_depth(void) { return walk(3); }

int main(void)
{
    plain();
    return list_sum() + tree_depth();
}
