/**
 * A change as two tools: `preview_X` shows its effect and returns a token, `X` applies it if the arguments and the state are
 * still those of the preview.
 *
 * The state is read again directly before the act. The API refuses acts that became outdated after that read: a decision names
 * its wait, and an ended run does not change.
 */
import type { CairnClient } from '@cairn/client';
import { z } from 'zod';
import { ToolProblem, type ToolResponse } from '../answer.ts';
import { clipped } from '../bounded.ts';
import { argumentProblem, keyOf, type SealProblem, seal, stateProblem } from '../seal.ts';
import type { Tool } from './tool.ts';

/** An error that the act would be refused with. */
export interface Blocker {
  readonly code: string;
  readonly detail: string;
  readonly field?: string | undefined;
  readonly help: string;
}

interface ActPreview<State> {
  /** The effect of the act, in a sentence or a few lines. */
  readonly text: string;
  readonly data: Readonly<Record<string, unknown>>;
  /** The part of the preview that must not have changed; JSON. */
  readonly state: State;
  readonly blockers: readonly Blocker[];
}

interface ActSpec<S extends z.ZodObject, State> {
  readonly name: string;
  readonly title: string;
  /** The effect of the act, and the role it needs. */
  readonly description: string;
  readonly args: S;
  readonly isDestructive: boolean;
  readonly preview: (client: CairnClient, args: z.output<S>) => Promise<ActPreview<State>>;
  readonly carryOut: (client: CairnClient, act: ConfirmedAct<S, State>) => Promise<ToolResponse>;
}

interface ConfirmedAct<S extends z.ZodObject, State> {
  readonly args: z.output<S>;
  /** The state just before the act. */
  readonly state: State;
  readonly idempotencyKey: string;
}

const MAX_SHOWN_CHARS = 8_000;
const TOKEN = z.string().max(200).describe('Token of the preview with the same arguments.');

export function act<S extends z.ZodObject, State>(spec: ActSpec<S, State>): readonly [Tool, Tool] {
  const { name, title, description, args: input, isDestructive } = spec;
  const previewName = `preview_${name}`;
  const previewTool: Tool = {
    name: previewName,
    title: `Preview: ${title}`,
    description: `Shows what ${name} would do with these arguments, and returns the token for it. Changes nothing.`,
    input,
    changes: false,
    isDestructive: false,
    async run({ client, secret }, input) {
      const args = input as z.output<S>;
      const { text: whole, data, state, blockers } = await spec.preview(client, args);
      // Leaves room for the token.
      const text = clipped(whole, MAX_SHOWN_CHARS);
      if (blockers.length > 0)
        return { text: blockedText(name, text, blockers), data: { preview: data, blockers } };
      const { token, expiresAt } = seal({ action: name, args, state }, { secret, now: client.machine.now() });
      return {
        text: `${text}\nNothing has changed yet. To do it, call ${name} with the same arguments and token ${token}`,
        data: { preview: data, blockers, token, expiresAt: new Date(expiresAt).toISOString() },
      };
    },
  };
  const actTool: Tool = {
    name,
    title,
    description: `${description} Needs the token of ${previewName}, which is valid for 15 minutes and acts once.`,
    input: input.extend({ token: TOKEN }),
    changes: true,
    isDestructive,
    async run({ client, secret }, { token: givenToken, ...input }) {
      const token = givenToken as string;
      const args = input as z.output<S>;
      const sealing = { secret, now: client.machine.now() };
      refuse(argumentProblem(token, { action: name, args }, sealing), name);
      const { state, blockers } = await spec.preview(client, args);
      const [blocker] = blockers;
      if (blocker) throw new ToolProblem(blocker);
      refuse(stateProblem(token, state, secret), name);
      return spec.carryOut(client, { args, state, idempotencyKey: keyOf(token) });
    },
  };
  return [previewTool, actTool];
}

function blockedText(name: string, text: string, blockers: readonly Blocker[]): string {
  const lines = blockers.flatMap(({ code, detail, field, help }) => [
    `${code}: ${field === undefined ? '' : `${field}: `}${detail}`,
    help,
  ]);
  return [text, `${name} would be refused, so there is no token:`, ...lines].join('\n');
}

const PROBLEMS: Readonly<Record<SealProblem, readonly [code: string, detail: string]>> = {
  malformed: ['TOKEN_INVALID', 'The token is not one of a preview.'],
  expired: ['TOKEN_EXPIRED', 'The preview is older than 15 minutes.'],
  other_arguments: [
    'TOKEN_MISMATCH',
    'The token belongs to a preview with other arguments, of another action or of another caller.',
  ],
  // The change can be the act itself, if an agent repeats a call whose answer it lost.
  other_state: [
    'STATE_CHANGED',
    'What the preview showed has changed since, by others or by an earlier call with this token. This call did nothing.',
  ],
};

/** @throws ToolProblem if there is a problem */
function refuse(problem: SealProblem | undefined, name: string): void {
  if (problem === undefined) return;
  const [code, detail] = PROBLEMS[problem];
  throw new ToolProblem({
    code,
    detail,
    field: 'token',
    help: `Call preview_${name} with the arguments you want, show its result, and use its token.`,
  });
}
