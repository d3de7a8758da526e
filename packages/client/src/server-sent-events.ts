/** Parses server-sent events (WHATWG HTML, 9.2.6) from the bytes of a response. Pure except for reading. */

export interface EventFrame {
  /** Undefined where none is named. */
  readonly event: string | undefined;
  readonly id: string | undefined;
  readonly data: string;
}

/** Skips frames without data, and drops an incomplete frame at the end. */
export async function* framesOf(
  body: ReadableStream<Uint8Array>,
  onBytes: () => void = () => {},
): AsyncGenerator<EventFrame> {
  let rest = '';
  let block: string[] = [];
  for await (const text of textOf(body)) {
    onBytes();
    rest += text;
    // A final carriage return may be the first half of CRLF.
    const whole = rest.endsWith('\r') ? rest.slice(0, -1) : rest;
    const lines = whole.split(/\r\n|\n|\r/);
    rest = (lines.pop() ?? '') + rest.slice(whole.length);
    for (const line of lines) {
      if (line !== '') {
        block.push(line);
        continue;
      }
      const frame = frameOf(block);
      block = [];
      if (frame) yield frame;
    }
  }
}

async function* textOf(body: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  const reader = body.getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      yield decoder.decode(value, { stream: true });
    }
  } finally {
    // The consumer stopped: the rest is not needed.
    await reader.cancel().catch(() => {});
  }
}

function frameOf(lines: readonly string[]): EventFrame | undefined {
  const data: string[] = [];
  let event: string | undefined;
  let id: string | undefined;
  for (const line of lines) {
    const [, name = '', value = ''] = /^([^:]*)(?:: ?(.*))?$/.exec(line) ?? [];
    if (name === 'data') data.push(value);
    else if (name === 'event') event = value;
    else if (name === 'id') id = value;
  }
  return data.length === 0 ? undefined : { event, id, data: data.join('\n') };
}
