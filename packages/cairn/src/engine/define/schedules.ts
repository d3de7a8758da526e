/** Turns declared schedules into those that the tick keeps; errors in them are thrown here, at load. */
import type { ZodType } from 'zod';
import { type Json, toJsonText } from '../../core/encoding/json.ts';
import { CairnError } from '../../core/errors.ts';
import { CATCH_UPS, type DeclaredSchedule, declaredScheduleId } from '../../core/schedule/schedule.ts';
import { checkedTiming } from '../../core/schedule/slots.ts';
import { assertTakesInput } from './slot-input.ts';
import { invalid } from './step-options.ts';
import type { ScheduleSubscription } from './types.ts';

/** The tick checks each of them every minute. */
const MAX_SCHEDULES = 20;
const ID_PATTERN = /^[a-z][a-z0-9]*(-[a-z0-9]+)*$/;
const MAX_ID_LENGTH = 100;

interface DeclaringWorkflow {
  readonly type: string;
  readonly input: ZodType<unknown>;
  readonly secretInput: readonly string[];
}

/** @throws CairnError INVALID_INPUT naming the schedule and the reason */
export function schedulesOfWorkflow(
  { type, input: schema, secretInput }: DeclaringWorkflow,
  subscriptions: readonly ScheduleSubscription[],
): readonly DeclaredSchedule[] {
  if (subscriptions.length > MAX_SCHEDULES)
    throw invalid(type, 'on.schedule', `the workflow declares more than ${MAX_SCHEDULES} schedules`);
  const schedules = subscriptions.map(
    ({ id, cron, timezone = 'Etc/UTC', input = {}, catchUp = 'latest' }) => {
      const refuse = (why: string) => invalid(type, 'on.schedule', `schedule '${id ?? cron}': ${why}`);
      if (id !== undefined && (!ID_PATTERN.test(id) || id.length > MAX_ID_LENGTH))
        throw refuse('its id must be lower-case words joined by hyphens');
      if (!CATCH_UPS.includes(catchUp)) throw refuse(`catchUp must be one of ${CATCH_UPS.join(', ')}`);
      try {
        const plain = JSON.parse(toJsonText(input, 'input')) as Json;
        assertTakesInput({ input: schema, secretInput }, plain);
        const timing = checkedTiming({ cron, timezone });
        return { ...timing, id: declaredScheduleId(type, id), type, input: plain, catchUp };
      } catch (error) {
        throw error instanceof CairnError ? refuse(error.message) : error;
      }
    },
  );
  if (new Set(schedules.map(({ id }) => id)).size < schedules.length)
    throw invalid(type, 'on.schedule', 'each of several schedules needs its own id');
  return schedules;
}
