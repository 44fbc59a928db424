/** Ids are opaque texts made by the ids port; each kind is a type of its own. */
import { z } from 'zod';

export type RunId = string & { readonly id: 'run' };
export type CallId = string & { readonly id: 'call' };
/** Names one cell of a sweep: the axes that made it, stable over resume. */
export type CellKey = string & { readonly id: 'cell' };
export type DocumentId = string & { readonly id: 'document' };

const id = <Id extends string>(): z.ZodType<Id, Id> => z.string().min(1).max(200) as unknown as z.ZodType<Id, Id>;

export const runIdSchema = id<RunId>();
export const callIdSchema = id<CallId>();
export const cellKeySchema = id<CellKey>();
export const documentIdSchema = id<DocumentId>();
