import { cargoProgram } from './cargo-program.ts';

/** Part of CoreOS; here only installed on hosts of scenarios that configure a network. */
export const nmstatectl = cargoProgram('nmstatectl', '2.2.62');
