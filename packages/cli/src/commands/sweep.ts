/** `sweep`: crashes workflows of the user at every call, as described in a file. Calls no API. */
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Sweep, SweepReport } from 'cairn/testing';
import { command } from '../arguments/command.ts';
import type { CommandContext } from '../context.ts';
import { Declined, EXIT } from '../exit.ts';
import { sweepText } from '../views/sweep.ts';

export const sweep = command({
  name: 'sweep',
  summary: 'Crash your workflow at every call and list what it did twice; exit code 7 if anything was',
  details:
    'FILE exports one or more sweeps made by defineSweep of cairn/testing: the workflows, stand-ins for what they act upon, and\nwhat happens to their runs. Everything happens in memory, in simulated time. docs/testing.md has an example.',
  args: { file: { help: 'module that exports sweeps: JavaScript, or TypeScript that Node can run' } },
  options: {},
  examples: [['sweep test/order.sweep.ts', 'each exported sweep']],
  async run(context, { args: { file } }) {
    const { out } = context;
    const reports: SweepReport[] = [];
    for (const one of await sweepsOf(resolve(context.world.cwd, file))) {
      const report = await swept(one, context);
      reports.push(report);
      if (!out.json) out.print(sweepText(report, { style: out.style, columns: out.columns }));
    }
    if (out.json) out.print(`${JSON.stringify(reports, null, 2)}\n`);
    return reports.every(({ failures }) => failures.length === 0) ? EXIT.ok : EXIT.found;
  },
});

/** @throws Declined if the file cannot be loaded, or exports no sweep */
async function sweepsOf(file: string): Promise<readonly Sweep[]> {
  if (!existsSync(file))
    throw new Declined(
      `${file} does not load: there is no such file`,
      'Name a module with sweeps, such as test/order.sweep.ts. docs/testing.md shows one.',
    );
  const module = await import(pathToFileURL(file).href).catch((error: unknown) => {
    throw new Declined(
      `${file} does not load: ${(error as Error).message}`,
      'If Node cannot run this TypeScript, compile it and name the compiled file.',
    );
  });
  const sweeps = Object.values(module as Record<string, unknown>).filter(isSweep);
  if (sweeps.length === 0) {
    throw new Declined(
      `${file} exports no sweep`,
      "Export one: export const order = defineSweep({ name: 'order', arrange() { … } }), with defineSweep from cairn/testing.",
    );
  }
  return sweeps;
}

function isSweep(value: unknown): value is Sweep {
  return (value as Sweep | null)?.kind === 'sweep';
}

/** @throws Declined if the sweep cannot be performed without a crash */
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
