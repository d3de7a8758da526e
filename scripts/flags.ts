/** Parses flags of a command of the repository. `--help` prints its usage; invalid flags end the process with exit code 2. */
import { type ParseArgsConfig, parseArgs } from 'node:util';
import { messageOf } from '../packages/cairn/src/core/thrown.ts';

type Options = NonNullable<ParseArgsConfig['options']>;
type Values<T extends Options> = ReturnType<typeof parseArgs<{ options: T }>>['values'];

export function flagsOf<const T extends Options>(usage: string, options: T): Values<T> {
  if (process.argv.slice(2).includes('--help')) {
    process.stdout.write(usage);
    process.exit(0);
  }
  try {
    return parseArgs<{ options: T }>({ options }).values;
  } catch (error) {
    refuse(usage, messageOf(error));
  }
}

/** Flags that are whole numbers of at least 1, with their defaults. */
export function countsOf<T extends string>(
  usage: string,
  defaults: Readonly<Record<T, number>>,
): Record<T, number> {
  const options = Object.fromEntries(
    Object.keys(defaults).map((flag) => [flag, { type: 'string' } as const]),
  );
  const counts: Record<T, number> = { ...defaults };
  for (const [flag, text] of Object.entries(flagsOf(usage, options))) {
    const count = Number(text);
    if (!Number.isSafeInteger(count) || count < 1)
      refuse(usage, `--${flag} must be a whole number of at least 1`);
    counts[flag as T] = count;
  }
  return counts;
}

export function refuse(usage: string, message: string): never {
  process.stderr.write(`${message}\n\n${usage}`);
  process.exit(2);
}
