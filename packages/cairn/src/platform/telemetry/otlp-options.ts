/** What both exports to a collector have in common: where it is, who sends, and what it asks for. */

/** A collector that takes longer is given up. */
export const SEND_TIMEOUT_MS = 5_000;

export interface OtlpOptions {
  /** Base address of the collector; the path of each signal is added, as OTLP has it. */
  readonly endpoint: string;
  /** What tells this instance from others. */
  readonly resource: Readonly<Record<string, string>>;
  /** Asked with every export. Must not throw. */
  readonly headers: () => Promise<Record<string, string>>;
}

export function signalUrl(endpoint: string, signal: 'metrics' | 'traces'): string {
  return `${endpoint.replace(/\/+$/, '')}/v1/${signal}`;
}
