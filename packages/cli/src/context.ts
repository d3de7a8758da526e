/** Context of a command: the API, its output, and the global options. */
import type { CairnClient } from '@cairn/client';
import { callOf } from './invocation.ts';
import { PLAIN, type Style, styleFor } from './render/style.ts';
import type { World } from './world.ts';

export interface CommandContext {
  readonly world: World;
  /** Created on first use: help needs no address. */
  readonly api: CairnClient;
  /** Another client, with the current address of a local cloud. @throws UsageError */
  readonly connected: () => CairnClient;
  readonly out: CliOutput;
  /** Output to standard error, so that pipes get only the answer. */
  readonly notes: CliOutput;
}

/** Standard output or standard error. */
export class CliOutput {
  readonly style: Style;
  /** Print the answer as JSON. */
  readonly json: boolean;
  readonly columns: number | undefined;
  readonly call: string;
  readonly #world: World;
  readonly #to: 'stdout' | 'stderr';

  constructor(
    world: World,
    to: 'stdout' | 'stderr',
    flags: { readonly json: boolean; readonly plain: boolean },
  ) {
    this.#world = world;
    this.#to = to;
    this.json = flags.json;
    this.style = flags.json ? PLAIN : styleFor(world[to], world, flags.plain);
    this.columns = world[to].isTty ? world[to].columns : undefined;
    this.call = callOf(world.env);
  }

  /** Print an answer of the API: as JSON if requested, else the text of `text`. */
  answer(answer: unknown, text: (shape: OutputShape) => string): void {
    if (this.json) this.print(`${JSON.stringify(answer, null, 2)}\n`);
    else this.print(text({ style: this.style, columns: this.columns, call: this.call }));
  }

  /** Prints the text as it is. */
  print(text: string): void {
    if (text !== '') this.#world[this.#to].write(text);
  }
}

/** Width and colours of the output, and the prefix of printed commands. */
export interface OutputShape {
  readonly style: Style;
  readonly columns: number | undefined;
  /** Default: `cairn`. */
  readonly call?: string;
}
