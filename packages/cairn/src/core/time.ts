/** The first time that can be stored: the beginning of the year 1, epoch ms. */
export const MIN_TIME = -62_135_596_800_000;
/** The last time that can be stored and shown: the end of the year 9999, epoch ms. */
export const MAX_TIME = 253_402_300_799_999;
