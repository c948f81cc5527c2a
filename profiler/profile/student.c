#include "profiler/profile/student.h"

#include <math.h>

enum { MOST_TERMS = 500, HALVINGS = 200 };

/* Lentz's method needs a denominator that is not 0. */
static double away_from_zero(double x)
{
    if (fabs(x) < 1e-300)
        return 1e-300;
    return x;
}

/* The continued fraction of the incomplete beta function; converges quickly below
 * (a + 1) / (a + b + 2). */
static double beta_fraction(double a, double b, double x)
{
    double c = 1, d = 1 / away_from_zero(1 - (a + b) * x / (a + 1)), product = d;
    for (int m = 1; m < MOST_TERMS; m++) {
        double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
        double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
        d = 1 / away_from_zero(1 + even * d);
        c = away_from_zero(1 + even / c);
        product *= d * c;
        d = 1 / away_from_zero(1 + odd * d);
        c = away_from_zero(1 + odd / c);
        product *= d * c;
        if (fabs(d * c - 1) < 1e-15)
            break;
    }
    return product;
}

/* I_x(a, b), regularised; y = 1 - x, which is exact where x is near 1. */
static double incomplete_beta(double a, double b, double x, double y)
{
    if (x <= 0 || y <= 0)
        return x <= 0 ? 0 : 1;
    double front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log(y));
    if (x < (a + 1) / (a + b + 2))
        return front * beta_fraction(a, b, x) / a;
    return 1 - front * beta_fraction(b, a, y) / b;
}

double student_tail(double t, double df)
{
    double square = t * t;
    if (isinf(square))
        return 0;
    return incomplete_beta(df / 2, 0.5, df / (df + square), square / (df + square));
}

double student_limit(double df)
{
    double low = 0, high = 2;
    while (student_tail(high, df) > 0.05 && high < 1e300)
        high *= 2;
    for (int i = 0; i < HALVINGS && low < high; i++) {
        double mid = low + (high - low) / 2;
        if (student_tail(mid, df) > 0.05)
            low = mid;
        else
            high = mid;
    }
    return high;
}
