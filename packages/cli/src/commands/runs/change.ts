/** Further commands that change a run: `cancel`, `suspend`, `continue`, `fail-wait`, `heartbeat-wait`, `signal`. */
import { command } from '../../arguments/command.ts';
import { jsonValue } from '../../arguments/values.ts';
import { UsageError } from '../../exit.ts';
import { moment } from '../../render/time.ts';
import { RUN, runIdOf } from './named.ts';

export const cancelRun = command({
  name: 'runs cancel',
  summary: 'End a run, or ask whoever drives it to',
  args: { run: RUN },
  options: {
    reason: { type: 'text', value: 'TEXT', help: 'why; it stands in the journal' },
    'without-undo': {
      type: 'flag',
      help: 'do not call the compensations of its steps; its last event names them',
    },
  },
  mutates: true,
  examples: [
    ['runs cancel last --reason "not needed any more"', 'what it did is undone first, where steps say how'],
    ['runs cancel last --without-undo', 'also if the version that could undo it is gone'],
  ],
  async run(context, { args, options: { reason, 'without-undo': withoutUndo } }) {
    const { api, out } = context;
    const params = { id: await runIdOf(context, args.run) };
    const body = { ...(reason !== undefined && { reason }), ...(withoutUndo && { withoutUndo }) };
    const cancellation = await api.change('POST', '/v1/runs/{id}/cancel', { params, body });
    out.answer(
      cancellation,
      ({ style }) => `${style.paint('warn', cancellation.status)} ${cancellation.runId}\n`,
    );
  },
});

export const suspendRun = command({
  name: 'runs suspend',
  summary: 'Have a run stand: no step of it is started until it is continued',
  args: { run: RUN },
  options: { reason: { type: 'text', value: 'TEXT', help: 'why; needed' } },
  mutates: true,
  examples: [
    [
      'runs suspend last --reason "the bank is down"',
      'steps under way end; cairn runs continue has it go on',
    ],
  ],
  async run(context, { args, options: { reason } }) {
    if (reason === undefined) throw new UsageError('--reason is missing: whoever suspends a run says why');
    const { api, out } = context;
    const params = { id: await runIdOf(context, args.run) };
    const suspension = await api.change('POST', '/v1/runs/{id}/suspend', { params, body: { reason } });
    out.answer(suspension, ({ style }) => `${style.paint('warn', suspension.status)} ${suspension.runId}\n`);
  },
});

export const continueRun = command({
  name: 'runs continue',
  summary: 'Have a suspended run go on',
  args: { run: RUN },
  options: { reason: { type: 'text', value: 'TEXT', help: 'why; it stands in the journal' } },
  mutates: true,
  examples: [['runs continue last', 'what came due meanwhile is seen to at once']],
  async run(context, { args, options: { reason } }) {
    const { api, out } = context;
    const params = { id: await runIdOf(context, args.run) };
    const body = reason === undefined ? {} : { reason };
    const continued = await api.change('POST', '/v1/runs/{id}/continue', { params, body });
    out.answer(continued, () => `goes on: ${continued.runId} (${continued.status})\n`);
  },
});

export const failWait = command({
  name: 'runs fail-wait',
  summary: 'Say that the event which a step waits for will not come',
  args: { run: RUN, step: { help: 'id of the step that waits' } },
  options: { reason: { type: 'text', value: 'TEXT', help: 'why; the message of its error; needed' } },
  mutates: true,
  examples: [
    ['runs fail-wait last parcel --reason "lost by the carrier"', 'the step fails with EVENT_FAILED'],
  ],
  async run(context, { args, options: { reason } }) {
    if (reason === undefined) throw new UsageError('--reason is missing: whoever fails a wait says why');
    const { api, out } = context;
    const params = { id: await runIdOf(context, args.run), stepId: args.step };
    const failed = await api.change('POST', '/v1/runs/{id}/waits/{stepId}/fail', {
      params,
      body: { reason },
    });
    out.answer(failed, () => `failed: ${failed.stepId} of ${failed.runId}\n`);
  },
});

export const heartbeatWait = command({
  name: 'runs heartbeat-wait',
  summary: 'Say that somebody is still at work on the event which a step waits for',
  args: { run: RUN, step: { help: 'id of the step that waits' } },
  options: {},
  mutates: true,
  examples: [['runs heartbeat-wait last parcel', 'without it for the `within` of the step, the step fails']],
  async run(context, { args }) {
    const { api, out } = context;
    const params = { id: await runIdOf(context, args.run), stepId: args.step };
    const beaten = await api.change('POST', '/v1/runs/{id}/waits/{stepId}/heartbeat', { params, body: {} });
    out.answer(beaten, () => `${beaten.stepId} of ${beaten.runId} waits until ${moment(beaten.dueAt)}\n`);
  },
});

export const signalRun = command({
  name: 'runs signal',
  summary: 'Tell one run something it waits for, or soon will',
  args: { run: RUN, event: { help: 'name of the event' } },
  options: {
    for: { type: 'text', value: 'KEY', help: 'which event of that name (default: any)' },
    data: { type: 'text', value: 'JSON', help: 'what it carries: JSON, @FILE, or -' },
  },
  mutates: true,
  examples: [
    [
      `runs signal last parcel.arrived --data '{"isComplete":true}'`,
      'this run only; cairn events send tells all',
    ],
  ],
  async run(context, { args, options }) {
    const { api, out, world } = context;
    const params = { id: await runIdOf(context, args.run) };
    const body = {
      name: args.event,
      ...(options.for === undefined ? {} : { key: options.for }),
      ...(options.data === undefined ? {} : { data: await jsonValue('--data', options.data, world) }),
    };
    const told = await api.change('POST', '/v1/runs/{id}/signals', { params, body });
    out.answer(told, () => (told.outcome === 'taken_in' ? 'taken in\n' : 'kept until the run asks for it\n'));
  },
});
