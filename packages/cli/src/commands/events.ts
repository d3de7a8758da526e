/** `events send`. */
import { command } from '../arguments/command.ts';
import { jsonValue } from '../arguments/values.ts';
import { moment } from '../render/time.ts';

export const sendEvent = command({
  name: 'events send',
  summary: 'Send an event to every waiting run, or buffer it for the first that waits',
  args: {
    event: { help: 'name of the event' },
    for: { help: 'key of the event' },
  },
  options: { data: { type: 'text', value: 'JSON', help: 'payload: JSON, @FILE, or -' } },
  mutates: true,
  examples: [
    [`events send ci-finished 4f2a91c --data '{"ok":true}'`, 'wakes the deployments of that commit'],
  ],
  async run({ api, out, world }, { args, options: { data } }) {
    const body = {
      event: args.event,
      key: args.for,
      data: await jsonValue('--data', data, world),
    };
    const sent = await api.change('POST', '/v1/events', { body });
    out.answer(sent, ({ style }) => {
      const refused = sent.refused.map(({ runId, code, reason }) =>
        style.paint('bad', `${runId} ${code}: ${reason}\n`),
      );
      const delivered = sent.delivered.map((runId) => `${style.paint('good', 'delivered')} ${runId}\n`);
      const note = sent.kept
        ? [`kept${sent.keptUntil === undefined ? '' : ` until ${moment(sent.keptUntil)}`}\n`]
        : [];
      return [...delivered, ...refused, ...note].join('');
    });
  },
});
