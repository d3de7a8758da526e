/** The page's beginning: styles, the session, and the first drawing. */
import { createRoot } from 'react-dom/client';
import { App } from './app.tsx';
import './styles/base.css';
import './styles/layout.css';
import './styles/parts.css';

const root = document.getElementById('root');
if (root) createRoot(root).render(<App />);
