/** `runs start`. */
import { Refusal } from '@cairn/client';
import { command } from '../../arguments/command.ts';
import { jsonValue } from '../../arguments/values.ts';
import { watch } from './watch.ts';

export const startRun = command({
  name: 'runs start',
  summary: 'Start a run of the newest version of a workflow',
  args: { type: { help: "type of the workflow, one that 'workflows' lists" } },
  options: {
    input: {
      type: 'text',
      value: 'JSON',
      help: 'input: JSON, @FILE, or - for standard input (default {})',
    },
    thread: { type: 'text', value: 'ID', help: 'thread of the run' },
    watch: { type: 'flag', help: 'follow the run until it ends' },
  },
  mutates: true,
  examples: [
    ['runs start deploy --input @deploy.json', 'with input from a file'],
    [`runs start greet --input '{"name":"Ada"}' --watch`, 'and see how it ends'],
    [`runs start greet --input '{"name":"Ada"}' --key monday`, 'once, however often it is called'],
  ],
  async run(context, { args, options }) {
    const { api, out, notes, world } = context;
    const input = options.input === undefined ? {} : await jsonValue('--input', options.input, world);
    const body = { type: args.type, input, threadId: options.thread };
    const started = await api
      .change('POST', '/v1/runs', { body })
      .catch((error: unknown) => Promise.reject(withExample(error, args.type)));
    if (options.watch) {
      if (!out.json) notes.print(`${started.runId}\n`);
      return watch(context, started.runId, 0);
    }
    out.answer(started, () => `${started.runId}\n`);
  },
});

/** Adds to a refusal of the input the command that prints a valid one. */
function withExample(error: unknown, type: string): unknown {
  if (!(error instanceof Refusal) || !/^input\b/.test(error.problem.field ?? '')) return error;
  const help = `cairn workflows input ${type} --example prints an input that the workflow accepts.`;
  return new Refusal({ ...error.problem, help }, error.key);
}
