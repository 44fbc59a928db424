/** Stands in for electron in tests; grows with what the shell uses. */
export {};
