/** What else is done to a run: `cancel`, `signal`. */
import { command } from '../../arguments/command.ts';
import { jsonValue } from '../../arguments/values.ts';
import { RUN, runIdOf } from './named.ts';

export const cancelRun = command({
  name: 'runs cancel',
  summary: 'End a run, or ask whoever drives it to',
  args: { run: RUN },
  options: { reason: { type: 'text', value: 'TEXT', help: 'why; it stands in the journal' } },
  mutates: true,
  examples: [
    ['runs cancel last --reason "not needed any more"', 'what it did is undone first, where steps say how'],
  ],
  async run(context, { args, options: { reason } }) {
    const { api, out } = context;
    const params = { id: await runIdOf(context, args.run) };
    const body = reason === undefined ? {} : { reason };
    const cancellation = await api.change('POST', '/v1/runs/{id}/cancel', { params, body });
    out.answer(
      cancellation,
      ({ style }) => `${style.paint('warn', cancellation.status)} ${cancellation.runId}\n`,
    );
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
