/** What the rest of the node layer uses of MCP. */
export { type ConnectOptions, MCP_SERVERS_MAX, type McpTools, connectMcpServers } from './connect.ts';
export { type McpFile, readMcpFile, readMcpServers } from './servers-file.ts';
