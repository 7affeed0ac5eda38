#!/usr/bin/env node
import { main } from '../src/cli/main.js';
import { tuneCompiler } from '../src/cli/tune.js';

tuneCompiler();
process.exitCode = await main(process.argv.slice(2));
