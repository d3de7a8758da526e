/** Texts in Slack: the wire format of a response, and error messages for people. Pure. */
import type { CairnError } from '../../core/errors.ts';

/** Response to a command or a press. */
export type SlackMessage = {
  readonly response_type: 'ephemeral';
  readonly text: string;
  /** True to replace the message whose button was pressed. */
  readonly replace_original: boolean;
};

/** Longer foreign texts are truncated, because a response has one or two lines. */
const MAX_QUOTED_CHARS = 600;

/** Visible only to the requester. @param text in Slack's markup; external text must have gone through {@link quoted} */
export function privately(text: string): SlackMessage {
  return { response_type: 'ephemeral', text, replace_original: false };
}

/** Replaces the question. */
export function instead(text: string): SlackMessage {
  return { response_type: 'ephemeral', text, replace_original: true };
}

/** Escapes external text, so that it contains no markup: no mention, link or channel (Slack, "Escaping text"). */
export function quoted(text: string): string {
  return escaped(clipped(text, MAX_QUOTED_CHARS));
}

export function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

/** Truncates to `most` characters (UTF-16), never within a surrogate pair. */
export function clipped(text: string, most: number): string {
  return text.length <= most ? text : `${text.slice(0, most - 1).replace(/[\ud800-\udbff]$/, '')}…`;
}

/** An error and its help. @param error with a status below 500: its texts are written for the caller */
export function refusal({ message, help, code }: CairnError): SlackMessage {
  // The general help about fields and requests is for programs, so it is omitted here.
  return privately(code === 'INVALID_INPUT' ? quoted(message) : `${quoted(message)}\n${quoted(help)}`);
}

export const UNKNOWN_OUTCOME = privately(
  'Cairn cannot determine whether this was done. Check the list of runs before you try again.',
);

/** Sent because Slack would show an error after three seconds, although the work continues. */
export const STILL_BUSY = privately(
  'This takes longer than usual and may still succeed. Check the list of runs before you try again.',
);
