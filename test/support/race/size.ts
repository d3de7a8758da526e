/**
 * Extent of the explored races. `EVERY_ORDER=1` before the command explores every order of every race (about two minutes
 * of one core); by default the expensive races have fewer concurrent faults or actors.
 */
export const EVERY_ORDER = process.env.EVERY_ORDER === '1';
