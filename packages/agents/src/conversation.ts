/** A conversation with a model, independent of the provider. All of it is JSON. */
import type { Json } from 'cairn';

export interface ToolCall {
  /** Made by the model; identifies the call of a result. */
  readonly id: string;
  readonly name: string;
  /** Written by the model and not validated. */
  readonly input: Json;
}

export type ToolResult = { readonly id: string; readonly name: string } & (
  | { readonly output: Json }
  /** Sent to the model instead of an output. */
  | { readonly error: string }
);

/** Answer of a model to one request. */
export interface ModelResponse {
  readonly text: string;
  readonly calls: readonly ToolCall[];
  /** Reason why it stopped: 'stop', 'tool-calls', 'length' … */
  readonly finish: string;
  readonly usage?: { readonly input: number; readonly output: number };
  /** The answer in the provider's format. It is sent back unchanged, because it may carry signatures. */
  readonly raw?: Json;
}

export type AgentMessage =
  | { readonly role: 'user'; readonly text: string }
  | {
      readonly role: 'assistant';
      readonly text: string;
      readonly calls: readonly ToolCall[];
      readonly raw?: Json | undefined;
    }
  | { readonly role: 'tool'; readonly results: readonly ToolResult[] };

export interface ModelRequest {
  readonly system: string | undefined;
  readonly messages: readonly AgentMessage[];
  readonly tools: readonly {
    readonly name: string;
    readonly description: string;
    /** JSON schema. */
    readonly input: Readonly<Record<string, unknown>>;
  }[];
  readonly signal: AbortSignal;
  /** Receives the text of the answer piece by piece. Absent: not streamed. Optional for a model. */
  readonly onText?: (piece: string) => void;
}

export interface AgentModel {
  /** Recorded with the usage: 'anthropic/claude-…'. */
  readonly id: string;
  /** Calls the model once; the operation retries errors. */
  generate(request: ModelRequest): Promise<ModelResponse>;
}
