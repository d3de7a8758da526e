/** The last time that can be stored and shown: the end of the year 9999, epoch ms. */
export const MAX_TIME = 253_402_300_799_999;
