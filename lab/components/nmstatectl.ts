import { cargoProgram } from './cargo-program.ts';

/** Part of CoreOS; here only installed on live hosts of scenarios with a networkConfig. */
export const nmstatectl = cargoProgram('nmstatectl', '2.2.62');
