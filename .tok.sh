cp -r /work/h/lead/build/venv build/venv 2>/dev/null
build/venv/bin/python -B tests/models/token_models_test.py build/release/bin/sluice
