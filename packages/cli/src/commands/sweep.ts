/** `sweep`: crashes the user's workflows at every call, as the user's file describes. Calls no API. */
import type { Sweep, SweepReport } from 'cairn/testing';
import { command } from '../arguments/command.ts';
import type { CommandContext } from '../context.ts';
import { Declined, EXIT } from '../exit.ts';
import { sweepText } from '../views/sweep.ts';
import { sweepsNamed } from './sweep-files.ts';

export const sweep = command({
  name: 'sweep',
  summary: 'Crash your workflow at every call and list what it did twice; exit code 7 if anything was',
  details:
    'A sweep is made by defineSweep of cairn/testing and exported by a file *.sweep.ts or *.sweep.js: the workflows, stand-ins for\nwhat they act upon, and what happens to their runs. WORKFLOW is a type, or the name of a sweep; it is searched for in such\nfiles below this folder. Everything happens in memory, in simulated time. docs/testing.md has an example.',
  args: { workflow: { help: 'a workflow, a sweep, or a file: JavaScript, or TypeScript that Node can run' } },
  examples: [
    ['sweep order', 'each sweep that has the workflow'],
    ['sweep test/order.sweep.ts', 'each sweep of a file'],
  ],
  async run(context, { args: { workflow } }) {
    const { out } = context;
    const reports: SweepReport[] = [];
    for (const one of await sweepsNamed(workflow, context.world.cwd)) {
      const report = await swept(one, context);
      reports.push(report);
      if (!out.json) out.print(sweepText(report, { style: out.style, columns: out.columns }));
    }
    if (out.json) out.print(`${JSON.stringify(reports, null, 2)}\n`);
    return reports.every(({ failures }) => failures.length === 0) ? EXIT.ok : EXIT.found;
  },
});

/** @throws Declined if the sweep fails even without a crash */
async function swept(one: Sweep, { world, notes }: CommandContext): Promise<SweepReport> {
  const shows = world.stderr.isTty;
  try {
    return await one.run((done, points) => {
      if (shows) notes.print(`\r${one.name}: ${done} of ${points}${done === points ? '\r\x1b[K' : ''}`);
    });
  } catch (error) {
    throw new Declined((error as Error).message);
  }
}
