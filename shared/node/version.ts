/** The version that the page, the CSV tools and `--version` show. */
export const version = '0.1.0';
