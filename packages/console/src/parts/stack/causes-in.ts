/** Finds the causes of an error in its stored trace. Pure. */
const CAUSE = /^caused by: (?:Error: )?(.+)$/gm;
const MAX_CAUSES = 3;

/** The first line of each cause that the message does not have. */
export function causesIn(trace: string, message: string): readonly string[] {
  const texts = [...trace.matchAll(CAUSE)].map(([, text = '']) => text.trim());
  return [...new Set(texts)].filter((text) => !message.includes(text)).slice(0, MAX_CAUSES);
}
