// Keys and meanings, for the dialog.
import { el } from './dom.js';

const KEYS = [
    ['1 \u2013 8', 'the views'], ['/', 'filter, or find'], ['\u2193 \u2191, j k', 'rows and boxes'], ['Enter', 'open a function, zoom into a box'], ['Backspace', 'back, zoom out'], ['s', 'sort by the next column'],
    ['c', 'the other counter'], ['i', 'the last second, or all'], ['m', 'set a mark'], ['z', 'since the mark, or all'], ['d', 'compare with a mark'], ['x', 'stop or start counting'], ['e', 'what the counters count'], ['o', 'where counting starts and stops'],
    ['Delete', 'clear'], ['Ctrl-S', 'save'], ['Space', 'freeze the view'], ['t', 'boxes or table; source, instructions or both'], ['0', 'zoom out of everything'], ['?', 'this help']];

const WORDS = [
    ['Hit', 'One time that a function was entered.'],
    ['C1, C2', 'What the board’s two counters count: cycles, cache misses, … Chosen by --c1 and --c2 when it starts, and by key e later.'],
    ['+ called', 'With everything that was called from there.'],
    ['?', 'Some of these counts may belong to a neighbour: an event was lost near them, or code without events ran. “? %” is how much at most. Such names are italic and underlined, such boxes hatched.'],
    ['Seen', 'The part of the events that reached this page’s profile. All shares are of what was seen; lost time has its own row and its own box, “(not seen)”.'],
    ['Slowed down', 'How much slower the program runs while it is traced.'],
    ['(other)', 'What is too small to be sent one by one. The sum is exact.']];

export function help() {
    return [
        el('table.keys', {}, el('caption.unseen', { text: 'Keys' }), el('tbody', {}, ...KEYS.map(([k, v]) => el('tr', {}, el('th', { scope: 'row' }, el('kbd', { text: k })), el('td', { text: v }))))),
        el('h2', { text: 'Words' }),
        el('table', {}, el('caption.unseen', { text: 'Words' }), el('tbody', {}, ...WORDS.map(([k, v]) => el('tr', {}, el('th', { scope: 'row', text: k }), el('td', { text: v })))))];
}
