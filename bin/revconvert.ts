#!/usr/bin/env node
import { EXIT } from '../src/cli/exit-status.js';
import { main } from '../src/cli/main.js';
import { runsForeignCode } from '../src/cli/strays.js';
import { tuneCompiler } from '../src/cli/tune.js';

tuneCompiler();
process.exitCode = await main(process.argv.slice(2));
// What waits to be written would keep the process until somebody reads it, and nobody may.
if (process.exitCode === EXIT.cancelled) process.exit();
// What a module of the user's own has begun and not ended would keep it, too.
if (runsForeignCode(process.argv)) process.stdout.write('', () => process.exit());
