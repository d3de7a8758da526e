/** The entry point: styles, the session, and the first drawing. */
// These imports precede the pages, whose own rules must come later.
import './styles/base.css';
import './styles/layout.css';
import './styles/parts.css';
import { createRoot } from 'react-dom/client';
import { App } from './app.tsx';

const root = document.getElementById('root');
if (root) createRoot(root).render(<App />);
