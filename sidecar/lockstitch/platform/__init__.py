"""What differs between operating systems: the only package that asks which one it runs on."""
