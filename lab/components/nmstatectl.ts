import { cargoProgram } from './cargo-program.ts';

/** Part of CoreOS; here only the live hosts of scenarios that have a networkConfig get it. */
export const nmstatectl = cargoProgram('nmstatectl', '2.2.62');
