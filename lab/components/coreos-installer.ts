import { cargoProgram } from './cargo-program.ts';

export const coreosInstaller = cargoProgram('coreos-installer', '0.27.0');
