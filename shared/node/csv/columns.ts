/** Columns say what their cells are: the type, not the look of a value, decides how it is written. */

export interface Column {
  readonly name: string;
  readonly type: 'text' | 'number' | 'boolean';
}

interface ValueOf {
  readonly text: string;
  readonly number: number;
  readonly boolean: boolean;
}

/** A row of such columns; every value may be null, which is unknown. */
export type RowOf<Columns extends Column> = {
  readonly [Each in Columns as Each['name']]: ValueOf[Each['type']] | null;
};

export type Row = Readonly<Record<string, string | number | boolean | null>>;
