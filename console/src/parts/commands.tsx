/** The same action for a shell: as `curl`, and as a call of the command line. */
import { useState } from 'react';
import type { Sending } from '../api/client.ts';
import { cliText, curlText } from './command-text.ts';

interface CommandsProps {
  readonly sending: Sending;
  /** Words after `npm run cairn --`. */
  readonly cli: readonly string[];
}

export function Commands({ sending, cli }: CommandsProps) {
  return (
    <details className="commands">
      <summary>As a command</summary>
      <Copyable label="curl" text={curlText(sending, window.location.origin)} />
      <Copyable label="cairn" text={cliText(cli)} />
    </details>
  );
}

export function Copyable({ label, text }: { readonly label: string; readonly text: string }) {
  const [copied, setCopied] = useState(false);
  const copy = async () => {
    await navigator.clipboard.writeText(text);
    setCopied(true);
  };
  return (
    <div className="copyable">
      <pre>
        <code>{text}</code>
      </pre>
      <button type="button" onClick={() => void copy()} aria-label={`Copy the ${label} command`}>
        {copied ? 'Copied' : 'Copy'}
      </button>
    </div>
  );
}
