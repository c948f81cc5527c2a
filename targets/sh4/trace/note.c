/* The status note: what is traced, and what is not. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "targets/sh4/trace/trace.h"
#include "probe/base/choice.h"

/* Another part of the status note, as far as there is room. */
__attribute__((format(printf, 2, 3))) static void note_add(struct sh4_trace *tr, const char *fmt,
                                                           ...)
{
    size_t n = strlen(tr->note.text);
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(tr->note.text + n, sizeof tr->note.text - n, fmt, ap);
    va_end(ap);
}

size_t sh4_trace_shown(const struct sh4_trace *tr)
{
    size_t n = 0;
    for (size_t i = 0; i < tr->sites.nfunctions; i++)
        n += tr->sites.function[i].shown;
    return n;
}

size_t sh4_trace_stepped(const struct sh4_trace *tr)
{
    if (tr->rom.channel_taken)
        return 0;
    return tr->plan.rom.nsites;
}

/* Branches that leave no event. */
static size_t untraced_sites(const struct sh4_trace *tr)
{
    size_t n = tr->plan.rom.nsites - sh4_trace_stepped(tr);
    for (size_t i = 0; i < tr->sites.nsites; i++) {
        const struct sh4_site *site = &tr->sites.site[i];
        n += site->kind < SH4_SITE_RTE && site->why != SH4_TRACED;
    }
    return n;
}

static size_t unexplored_bytes(const struct sh4_trace *tr)
{
    size_t n = 0;
    for (size_t i = 0; i < tr->sites.nfunctions; i++)
        n += tr->sites.function[i].unexplored;
    return n;
}

static void note_filter(struct sh4_trace *tr)
{
    const char *name = sh4_trace_filter_name(&tr->cfg), *why = tr->plan.filter_why;
    if (tr->plan.filtered)
        note_add(tr, "; shinobi filter enabled at %s", name);
    else
        note_add(tr, "; shinobi filter NOT enabled at %s: %s", name,
                 text_or(text_given(why), "no such symbol"));
}

void sh4_trace_note(struct sh4_trace *tr)
{
    size_t stepped = sh4_trace_stepped(tr), unexplored = unexplored_bytes(tr);
    tr->note.untraced = untraced_sites(tr);
    tr->note.text[0] = 0;
    note_add(tr, "%zu places traced, %zu not", tr->plan.npatches + stepped, tr->note.untraced);
    if (stepped)
        note_add(tr, "; %zu in ROM by stepping", stepped);
    else if (tr->plan.rom.nsites)
        note_add(tr, "; %zu in ROM: both break channels are GDB's", tr->plan.rom.nsites);
    if (tr->copied.nwaiting)
        note_add(tr, "; %zu section(s) not traced until the program has copied them",
                 tr->copied.nwaiting);
    if (tr->patches.changed)
        note_add(tr, "; %zu where the program has replaced the code", tr->patches.changed);
    if (tr->patches.strays)
        note_add(tr, "; %zu trap(s) taken out of the program's copies of its code",
                 tr->patches.strays);
    if (unexplored)
        note_add(tr, "; %zu bytes of code not reached by the search", unexplored);
    if (sh4_trace_shown(tr))
        note_add(tr, "; %zu function(s) found by their running", sh4_trace_shown(tr));
    if (tr->found->more)
        note_add(tr, "; more that ran are not traced");
    if (tr->plan.nwatched && tr->points.unwatched)
        note_add(tr, "; %u point(s) NOT watched: the break channels are GDB's",
                 tr->points.unwatched);
    else if (tr->plan.nwatched)
        note_add(tr, "; %u point(s) watched by user breaks: SR.BL may be 1 there",
                 tr->plan.nwatched);
    if (tr->search.evidence)
        note_add(tr, "; SR.BL taken as clear at the entry");
    if (tr->ring.tasks_begun)
        note_add(tr,
                 "; %u tasks begun in filtered interrupts: seen from their first interruption on",
                 (unsigned)tr->ring.tasks_begun);
    if (tr->cfg.irq_filter == IRQ_FILTER_SHINOBI)
        note_filter(tr);
}
