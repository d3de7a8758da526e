/** Header of every call by a schedule, as Cloud Scheduler spells it. */
export const SCHEDULED = 'X-CloudScheduler';
const RECEIVED = SCHEDULED.toLowerCase();

/** True for a call by a schedule, both as it is sent and as it is received. */
export function isScheduled(headers: object): boolean {
  return RECEIVED in headers || SCHEDULED in headers;
}
