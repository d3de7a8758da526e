/** Buttons that copy a text, and save it as a file. */
import { copyTitle, copyWords, useCopy } from './use-copy.ts';

interface CopyButtonProps {
  readonly children: string;
  /** Called on the click, because the text may be large. */
  text(): string;
}

export function CopyButton({ children, text }: CopyButtonProps) {
  const { outcome, copy, forget } = useCopy();
  return (
    <button
      type="button"
      className="small"
      title={copyTitle(outcome)}
      onClick={() => copy(text())}
      onBlur={forget}
    >
      <span aria-live="polite">{copyWords(outcome, children)}</span>
    </button>
  );
}

interface DownloadButtonProps {
  readonly file: string;
  /** Called on the click, because the text may be large. */
  text(): string;
}

/** Characters that some file system may refuse in a name. */
const UNSAFE = /[^\w.-]+/g;

export function DownloadButton({ file, text }: DownloadButtonProps) {
  const save = () => {
    const url = URL.createObjectURL(new Blob([text()], { type: 'application/json' }));
    const link = document.createElement('a');
    link.href = url;
    link.download = file.replace(UNSAFE, '_');
    link.click();
    // The browser reads the address before the click ends.
    setTimeout(() => URL.revokeObjectURL(url));
  };
  return (
    <button type="button" className="small" onClick={save}>
      Download
    </button>
  );
}
