"""Measurements that are made by hand or by `make bench`. Must not be part of the tests."""
