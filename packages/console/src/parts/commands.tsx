/** The same action for a shell: as `curl`, and as a call of the command line. */
import type { ChangeRequest } from '../api/client.ts';
import { cliText, curlText } from './command-text.ts';
import { copyTitle, copyWords, useCopy } from './copy/use-copy.ts';

interface CommandsProps {
  readonly sending: ChangeRequest;
  /** Words after `cairn`. */
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
  const { outcome, copy } = useCopy();
  return (
    <div className="copyable">
      <pre>
        <code>{text}</code>
      </pre>
      <button
        type="button"
        title={copyTitle(outcome)}
        onClick={() => copy(text)}
        aria-label={`Copy the ${label} command`}
      >
        {copyWords(outcome, 'Copy')}
      </button>
    </div>
  );
}
