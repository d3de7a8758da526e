/**
 * Simulates an installation against Google's documented limits: the limit that is exceeded first, the duration of runs and their
 * cost. The traffic of a run is recorded on the engine first; see limits.ts for where each other figure comes from.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { UsageError } from '../arguments.ts';
import { readArguments, USAGE } from './arguments.ts';
import { simulate } from './core/simulate.ts';
import { reportOf, textOf } from './report.ts';
import { allTables, withTables } from './tables.ts';
import { record } from './traffic/record.ts';

async function main(): Promise<void> {
  const given = readArguments(process.argv.slice(2));
  if (given.help) {
    process.stdout.write(USAGE);
    return;
  }
  if (given.tables) {
    for (const { name, text } of await allTables()) process.stdout.write(`${name}\n\n${text}\n\n`);
    return;
  }
  if (given.writeTables) {
    const tables = await allTables();
    for (const path of new Set(tables.map(({ document }) => document))) {
      const file = new URL(`../../${path}`, import.meta.url);
      const own = tables.filter(({ document }) => document === path);
      writeFileSync(file, withTables(readFileSync(file, 'utf8'), own));
    }
    return;
  }
  const profile = await record(given.traffic);
  const report = reportOf(given, profile, simulate(profile, given.plan));
  process.stdout.write(given.json ? `${JSON.stringify(report)}\n` : textOf(report));
}

try {
  await main();
} catch (error) {
  if (!(error instanceof UsageError)) throw error;
  process.stderr.write(`${error.message}\n\n${USAGE}`);
  process.exitCode = 2;
}
