/** Further commands that change a run: `cancel`, `suspend`, `continue`, `fail-wait`, `heartbeat-wait`, `signal`. */
import { jsonValue } from '../../arguments/values.ts';
import { moment } from '../../render/time.ts';
import { REASON, runCommand } from './named.ts';

export const cancelRun = runCommand({
  name: 'runs cancel',
  summary: 'Cancel a run; a running one ends at its next step',
  options: {
    reason: { type: 'text', value: 'TEXT', help: 'reason; recorded in the journal' },
    'without-undo': {
      type: 'flag',
      help: 'do not undo completed steps; the last event names them',
    },
  },
  mutates: true,
  examples: [
    ['runs cancel last --reason "no longer needed"', 'completed steps are undone first'],
    ['runs cancel last --without-undo', 'when the version that could undo it is not deployed'],
  ],
  async run({ api, out }, id, { options: { reason, 'without-undo': withoutUndo } }) {
    const params = { id };
    const body = { reason, withoutUndo: withoutUndo || undefined };
    const cancellation = await api.change('POST', '/v1/runs/{id}/cancel', { params, body });
    out.answer(
      cancellation,
      ({ style }) => `${style.paint('warn', cancellation.status)} ${cancellation.runId}\n`,
    );
  },
});

export const suspendRun = runCommand({
  name: 'runs suspend',
  summary: 'Suspend a run: no step starts until it is continued',
  options: { reason: { ...REASON, required: 'a suspension requires a reason' } },
  mutates: true,
  examples: [
    ['runs suspend last --reason "the bank is down"', 'running steps finish; cairn runs continue resumes it'],
  ],
  async run({ api, out }, id, { options: { reason } }) {
    const params = { id };
    const suspension = await api.change('POST', '/v1/runs/{id}/suspend', { params, body: { reason } });
    out.answer(suspension, ({ style }) => `${style.paint('warn', suspension.status)} ${suspension.runId}\n`);
  },
});

export const continueRun = runCommand({
  name: 'runs continue',
  summary: 'Continue a suspended run',
  options: { reason: { type: 'text', value: 'TEXT', help: 'reason; recorded in the journal' } },
  mutates: true,
  examples: [['runs continue last', 'overdue waits and retries are handled at once']],
  async run({ api, out }, id, { options: { reason } }) {
    const params = { id };
    const continued = await api.change('POST', '/v1/runs/{id}/continue', { params, body: { reason } });
    out.answer(continued, () => `continued: ${continued.runId} (${continued.status})\n`);
  },
});

export const failWait = runCommand({
  name: 'runs fail-wait',
  summary: 'Fail a wait: the event will not come',
  args: { step: { help: 'id of the waiting step' } },
  options: {
    reason: {
      ...REASON,
      help: 'message of the error',
      required: 'a failed wait requires a reason',
    },
  },
  mutates: true,
  examples: [
    ['runs fail-wait last parcel --reason "lost by the carrier"', 'the step fails with EVENT_FAILED'],
  ],
  async run({ api, out }, id, { args: { step }, options }) {
    const params = { id, stepId: step };
    const failed = await api.change('POST', '/v1/runs/{id}/waits/{stepId}/fail', { params, body: options });
    out.answer(failed, () => `failed: ${failed.stepId} of ${failed.runId}\n`);
  },
});

export const heartbeatWait = runCommand({
  name: 'runs heartbeat-wait',
  summary: 'Send a heartbeat for an event that a step waits for',
  args: { step: { help: 'id of the waiting step' } },
  mutates: true,
  examples: [
    ['runs heartbeat-wait last parcel', 'without a heartbeat within the time of the step, the step fails'],
  ],
  async run({ api, out }, id, { args }) {
    const params = { id, stepId: args.step };
    const answer = await api.change('POST', '/v1/runs/{id}/waits/{stepId}/heartbeat', { params, body: {} });
    out.answer(answer, () => `${answer.stepId} of ${answer.runId} waits until ${moment(answer.dueAt)}\n`);
  },
});

export const signalRun = runCommand({
  name: 'runs signal',
  summary: 'Send a signal to one run',
  args: { event: { help: 'name of the event' } },
  options: {
    for: { type: 'text', value: 'KEY', help: 'key of the event (default: any)' },
    data: { type: 'text', value: 'JSON', help: 'payload: JSON, @FILE, or -' },
  },
  mutates: true,
  examples: [
    [
      `runs signal last parcel.arrived --data '{"isComplete":true}'`,
      'this run only; cairn events send reaches every waiting run',
    ],
  ],
  async run({ api, out, world }, id, { args, options }) {
    const params = { id };
    const body = {
      name: args.event,
      key: options.for,
      data: await jsonValue('--data', options.data, world),
    };
    const answer = await api.change('POST', '/v1/runs/{id}/signals', { params, body });
    out.answer(answer, () =>
      answer.outcome === 'taken_in' ? 'delivered\n' : 'buffered until the run waits for it\n',
    );
  },
});
