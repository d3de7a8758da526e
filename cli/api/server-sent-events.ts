/** Reads server-sent events (WHATWG HTML, 9.2.6) from the bytes of an answer. Pure but for reading. */

export interface Frame {
  /** Undefined where none is named. */
  readonly event: string | undefined;
  readonly id: string | undefined;
  readonly data: string;
}

/** One without data is none. What stands after the last blank line was cut off, and is dropped. */
export async function* framesOf(
  body: ReadableStream<Uint8Array>,
  heard: () => void = () => {},
): AsyncGenerator<Frame> {
  let rest = '';
  for await (const text of body.pipeThrough(new TextDecoderStream())) {
    heard();
    rest += text;
    // A carriage return at the very end may be the first half of a line's end.
    const safe = rest.endsWith('\r') ? rest.slice(0, -1) : rest;
    const blocks = safe.split(/\r\n\r\n|\n\n|\r\r/);
    rest = (blocks.pop() ?? '') + rest.slice(safe.length);
    for (const block of blocks) {
      const frame = frameOf(block);
      if (frame) yield frame;
    }
  }
}

function frameOf(block: string): Frame | undefined {
  const data: string[] = [];
  let event: string | undefined;
  let id: string | undefined;
  for (const line of block.split(/\r\n|\n|\r/)) {
    const [, name = '', value = ''] = /^([^:]*)(?:: ?([\s\S]*))?$/.exec(line) ?? [];
    if (name === 'data') data.push(value);
    else if (name === 'event') event = value;
    else if (name === 'id') id = value;
  }
  return data.length === 0 ? undefined : { event, id, data: data.join('\n') };
}
