/** A tool as data: its name, arguments and effect. The server and the documentation are made from the table of these. */
import type { CairnClient } from '@cairn/client';
import type { z } from 'zod';
import type { ToolResponse } from '../answer.ts';

interface ToolContext {
  readonly client: CairnClient;
  readonly secret: string | Uint8Array;
}

export interface Tool {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly input: z.ZodObject;
  /** False for a tool that only reads. */
  readonly changes: boolean;
  /** True if the effect cannot be undone. */
  readonly isDestructive: boolean;
  /** @throws Refusal, Unreachable, ToolProblem */
  readonly run: (context: ToolContext, args: Readonly<Record<string, unknown>>) => Promise<ToolResponse>;
}

interface ReadSpec<S extends z.ZodObject> {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly input: S;
  readonly run: (client: CairnClient, args: z.output<S>) => Promise<ToolResponse>;
}

/** A tool that changes nothing. */
export function read<S extends z.ZodObject>({ run, ...spec }: ReadSpec<S>): Tool {
  return {
    ...spec,
    changes: false,
    isDestructive: false,
    // The server has parsed `args` with `input`.
    run: ({ client }, args) => run(client, args as z.output<S>),
  };
}
