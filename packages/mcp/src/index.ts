/** `@cairn/mcp`: an installation as tools for agents. */
export { type HandlerOptions, mcpHandler } from './handler.ts';
export { type McpFunctionRequest, type McpFunctionResponse, mcpFunction } from './node-function.ts';
export { mcpServer, type ServerOptions } from './server.ts';
