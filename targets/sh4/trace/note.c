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

void sh4_trace_note(struct sh4_trace *tr)
{
    size_t unexplored = 0;
    tr->note.untraced = 0;
    if (tr->rom.channel_taken)
        tr->note.untraced = tr->plan.rom.nsites;
    for (size_t i = 0; i < tr->sites.nsites; i++)
        tr->note.untraced +=
            tr->sites.site[i].kind < SH4_SITE_RTE && tr->sites.site[i].why != SH4_TRACED;
    for (size_t i = 0; i < tr->sites.nfunctions; i++)
        unexplored += tr->sites.function[i].unexplored;
    size_t stepped = tr->rom.channel_taken ? 0 : tr->plan.rom.nsites;
    tr->note.text[0] = 0;
    note_add(tr, "%zu places traced, %zu not", tr->plan.npatches + stepped, tr->note.untraced);
    if (tr->plan.rom.nsites)
        note_add(tr,
                 tr->rom.channel_taken ? "; %zu in ROM: both break channels are GDB's"
                                       : "; %zu in ROM by stepping",
                 tr->plan.rom.nsites);
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
    if (tr->plan.nwatched)
        note_add(tr,
                 tr->points.unwatched
                     ? "; %u point(s) NOT watched: the break channels are GDB's"
                     : "; %u point(s) watched by user breaks: SR.BL may be 1 there",
                 EITHER(tr->points.unwatched, tr->plan.nwatched));
    if (tr->search.evidence)
        note_add(tr, "; SR.BL taken as clear at the entry");
    if (tr->ring.tasks_begun)
        note_add(tr,
                 "; %u tasks begun in filtered interrupts: seen from their first interruption on",
                 (unsigned)tr->ring.tasks_begun);
    if (tr->cfg.irq_filter == IRQ_FILTER_SHINOBI)
        note_add(tr,
                 tr->plan.filtered ? "; shinobi filter enabled at %s"
                                   : "; shinobi filter NOT enabled at %s: %s",
                 sh4_trace_filter_name(&tr->cfg),
                 tr->plan.filter_why[0] ? tr->plan.filter_why : "no such symbol");
}
