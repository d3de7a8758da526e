/**
 * How much of the races a run of the tests explores. `EVERY_ORDER=1` before the command explores every order of every race
 * (some two minutes of one core); without it the expensive ones meet fewer faults at once, or fewer actors.
 */
export const EVERY_ORDER = process.env.EVERY_ORDER === '1';
