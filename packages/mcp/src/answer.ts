/** Results of tool calls, in the form of the protocol. Pure. */
import { isUncertain, Refusal, Unreachable } from '@cairn/client';
import type { CallToolResult } from '@modelcontextprotocol/server';
import { bounded, clipped, MAX_SAID_CHARS } from './bounded.ts';

/** A result before it is bounded. */
export interface ToolResponse {
  /** A sentence or a few lines. */
  readonly text: string;
  readonly data: Readonly<Record<string, unknown>>;
  /** Part of a longer text that the tool has already bounded, so it is not truncated again. */
  readonly excerpt?: string;
}

/** Refusal by this server, without a request to the API. */
export class ToolProblem extends Error {
  override readonly name = 'ToolProblem';
  readonly code: string;
  readonly field: string | undefined;
  readonly help: string;

  constructor({
    code,
    detail,
    field,
    help,
  }: { code: string; detail: string; field?: string | undefined; help: string }) {
    super(detail);
    this.code = code;
    this.field = field;
    this.help = help;
  }
}

const CUT_NOTE = 'Long parts were cut.';

export function toolResult({ text, data, excerpt }: ToolResponse): CallToolResult {
  const { value, isCut: isDataCut } = bounded(data);
  const message = clipped(text, MAX_SAID_CHARS);
  const isCut = isDataCut || message !== text;
  const structuredContent = {
    ...(value as Record<string, unknown>),
    ...(isCut && { isCut }),
    ...(excerpt !== undefined && { excerpt }),
  };
  return {
    // Repeats the data as text, because some clients do not pass structured content to the model.
    content: [
      { type: 'text', text: isCut ? `${message}\n${CUT_NOTE}` : message },
      { type: 'text', text: JSON.stringify(structuredContent) },
    ],
    structuredContent,
  };
}

/** @throws an unexpected error unchanged */
export function failed(error: unknown): CallToolResult {
  const problem = problemOf(error);
  const { code, detail, field, stepId, help, mayHaveActed } = problem;
  const lines = [
    `${code}: ${detail}`,
    field && `field: ${field}`,
    stepId && `step: ${stepId}`,
    help,
    mayHaveActed &&
      'The request may have been carried out. Call the tool again with the same token, which acts once.',
  ];
  const { value } = bounded({ error: problem });
  return {
    isError: true,
    content: [{ type: 'text', text: String(bounded(lines.filter(Boolean).join('\n')).value) }],
    structuredContent: value as Record<string, unknown>,
  };
}

function problemOf(error: unknown) {
  if (error instanceof ToolProblem) {
    const { code, message: detail, field, help } = error;
    return { code, detail, field, help };
  }
  const mayHaveActed = isUncertain(error) && error.key !== undefined ? true : undefined;
  if (error instanceof Refusal) {
    const { code, title, detail = title, field, stepId, help, status, details } = error.problem;
    return { code, status, detail, field, stepId, help, details, mayHaveActed };
  }
  if (error instanceof Unreachable) {
    const help = 'Check the URL of the installation and the network, then call the tool again.';
    return { code: 'UNREACHABLE', detail: error.message, help, mayHaveActed };
  }
  throw error;
}
