/** `idempotency`: the outcome of an earlier request. */
import { command } from '../arguments/command.ts';
import { moment } from '../render/time.ts';
import { clean } from '../render/width.ts';

export const readIdempotency = command({
  name: 'idempotency',
  summary: 'Show the outcome of a request by its idempotency key',
  args: { key: { help: 'key as it was sent' } },
  examples: [['idempotency cli-5f0c…', 'after a request without a response']],
  async run({ api, out }, { args }) {
    const record = await api.get('/v1/idempotency/{key}', { params: { key: args.key } });
    out.answer(record, ({ style }) => {
      const rows: (readonly [string, string | undefined])[] = [
        ['status', record.status],
        ['run', record.runId],
        ['answer', record.response && `${record.response.status} ${JSON.stringify(record.response.body)}`],
        ['error', record.error],
        ['attempts', String(record.attempts)],
        ['created', moment(record.createdAt)],
        ['expires', moment(record.expiresAt)],
      ];
      return rows
        .filter((row): row is readonly [string, string] => row[1] !== undefined)
        .map(([name, text]) => `${style.dim(name.padEnd(9))} ${clean(text)}\n`)
        .join('');
    });
  },
});
