/** A model without a network, for tests and examples. */
import type { AgentMessage, AgentModel, ModelResponse, ToolCall } from './conversation.ts';

export interface ScriptedResponse extends Partial<Omit<ModelResponse, 'calls'>> {
  readonly calls?: readonly (Omit<ToolCall, 'id'> & { readonly id?: string })[];
}

/** An answer, or a function that makes one from the conversation so far. */
export type ScriptedTurn =
  | ScriptedResponse
  | ((messages: readonly AgentMessage[]) => ScriptedResponse | Promise<ScriptedResponse>);

/**
 * The number of earlier answers selects the turn, so a call repeated after a crash gets the same answer. Missing call ids are
 * added. Counts ten tokens each way.
 */
export function scriptedModel(turns: readonly ScriptedTurn[], id = 'scripted'): AgentModel {
  return {
    id,
    async generate({ messages, onText }) {
      const turn = messages.filter(({ role }) => role === 'assistant').length;
      const scripted = turns[turn];
      if (scripted === undefined)
        throw new Error(`the script has ${turns.length} turns, and none for turn ${turn + 1}`);
      const {
        text = '',
        calls = [],
        ...more
      } = typeof scripted === 'function' ? await scripted(messages) : scripted;
      for (const piece of onText ? text.split(/(?<= )/) : []) onText?.(piece);
      return {
        text,
        calls: calls.map((call, i) => ({ ...call, id: call.id || `call-${turn}-${i}` })),
        finish: calls.length > 0 ? 'tool-calls' : 'stop',
        usage: { input: 10, output: 10 },
        ...more,
      };
    },
  };
}
